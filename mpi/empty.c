/* placeholder until the first source arrives */ typedef int empty_room;
